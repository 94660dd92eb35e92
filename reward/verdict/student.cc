#include "reward/verdict/student.h"

#include <cmath>

namespace touchstone {
namespace {

// The density of t / √degrees is proportional to (1 + v²)^(-(degrees + 1)/2); with v = tan(a) the area under it from 0
// is ∫ cos(a)^(degrees - 1) da. Gauss-Legendre with 16 points on 4 pieces is exact far beyond what an interval needs.
double Area(double angle, double degrees) {
  static constexpr double kNodes[] = {0.0950125098376374, 0.2816035507792589, 0.4580167776572274, 0.6178762444026438,
                                      0.7554044083550030, 0.8656312023878318, 0.9445750230732326, 0.9894009349916499};
  static constexpr double kWeights[] = {0.1894506104550685, 0.1826034150449236, 0.1691565193950025, 0.1495959888165767,
                                        0.1246289712555339, 0.0951585116824928, 0.0622535239386479, 0.0271524594117541};
  constexpr int kPieces = 4;
  const double half = angle / kPieces / 2;
  double sum = 0;
  for (int piece = 0; piece < kPieces; ++piece) {
    const double middle = (2 * piece + 1) * half;
    for (int i = 0; i < 8; ++i) {
      sum += kWeights[i] * half * std::pow(std::cos(middle - half * kNodes[i]), degrees - 1);
      sum += kWeights[i] * half * std::pow(std::cos(middle + half * kNodes[i]), degrees - 1);
    }
  }
  return sum;
}

}  // namespace

double StudentQuantile(double confidence, double degrees) {
  const double whole = std::sqrt(M_PI) * std::exp(std::lgamma(degrees / 2) - std::lgamma((degrees + 1) / 2)) / 2;
  // The area is concave in the angle, so that Newton's steps from 0 approach from below.
  double angle = 0;
  for (int i = 0; i < 100; ++i) {
    const double step = (confidence * whole - Area(angle, degrees)) / std::pow(std::cos(angle), degrees - 1);
    angle += step;
    if (!(step > 1e-13 * angle)) break;
  }
  return std::sqrt(degrees) * std::tan(angle);
}

}  // namespace touchstone
